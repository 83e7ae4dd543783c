//! The closed lists of words that describe a purchase (`docs/interface/purchases.md#history`).

use crate::charge::words::words;

words! {
    /// `status` of a purchase.
    PurchaseStatus {
        /// Not decided yet, or reserved.
        Pending = "pending",
        /// Every card was charged.
        Paid = "paid",
        /// No card was charged, or every charge is being given back.
        Failed = "failed",
        /// Undone at the merchant's wish, or by lapse of time.
        Cancelled = "cancelled",
    }
}

words! {
    /// What an entry of the history marks.
    Milestone {
        /// It was accepted.
        Created = "created",
        /// One card is reserved.
        SlotAuthorized = "slot_authorized",
        /// Every card is reserved.
        PreAuthorized = "pre_authorized",
        /// Every card was charged.
        Paid = "paid",
        /// It ended without charging any card.
        Failed = "failed",
        /// What was reserved or taken is being given back.
        RollbackStarted = "rollback_started",
        /// Everything was given back.
        RollbackCompleted = "rollback_completed",
        /// Giving back did not succeed yet; it goes on.
        RollbackFailed = "rollback_failed",
        /// Giving back was given up: the operator must look.
        ReconciliationFailed = "reconciliation_failed",
        /// Its time was over.
        Abandoned = "abandoned",
        /// It was undone.
        Cancelled = "cancelled",
        /// A provider did not release what is reserved.
        CancelFailed = "cancel_failed",
        /// Money is to be given back.
        RefundRequested = "refund_requested",
        /// The money was given back.
        RefundCompleted = "refund_completed",
        /// A provider did not give the money back.
        RefundFailed = "refund_failed",
        /// The reservation of one card was released.
        SlotCancelled = "slot_cancelled",
    }
}

words! {
    /// What was done at an entry of the history.
    Action {
        /// The purchase or a card of it has another status.
        StatusChanged = "statusChanged",
        /// The merchant, or `capture: true`, asks for the money.
        CaptureRequested = "captureRequested",
        /// The money was taken.
        CaptureCompleted = "captureCompleted",
        /// A provider did not take the money.
        CaptureFailed = "captureFailed",
        /// The merchant asks to undo it.
        VoidRequested = "voidRequested",
        /// It was undone.
        VoidCompleted = "voidCompleted",
        /// A provider did not undo it.
        VoidFailed = "voidFailed",
        /// Money is to be given back.
        RefundRequested = "refundRequested",
        /// The money was given back.
        RefundCompleted = "refundCompleted",
        /// A provider did not give the money back.
        RefundFailed = "refundFailed",
        /// The charge of one card was undone before anything was taken.
        ChargeCancelled = "chargeCancelled",
    }
}
