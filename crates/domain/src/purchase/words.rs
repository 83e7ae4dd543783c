//! The closed lists of words for purchases (`docs/interface/purchases.md#history`).

use crate::words::words;

words! {
    /// Where a purchase stands.
    PurchaseStatus {
        /// Undecided, or reserved.
        Pending = "pending",
        /// Every card was charged.
        Paid = "paid",
        /// No card was charged, or every charge is being given back.
        Failed = "failed",
        /// Undone at the merchant's request, or expired.
        Cancelled = "cancelled",
    }
}

words! {
    /// The currencies of purchases.
    PurchaseCurrency {
        /// The Brazilian real.
        Brl = "BRL",
    }
}

words! {
    /// What an entry of the history of a purchase marks.
    #[schema(as = PurchaseMilestone)]
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
        /// An undoing began.
        RollbackStarted = "rollback_started",
        /// Everything was given back.
        RollbackCompleted = "rollback_completed",
        /// An undoing failed for now; it is retried.
        RollbackFailed = "rollback_failed",
        /// An undoing was given up: the operator must look.
        ReconciliationFailed = "reconciliation_failed",
        /// Its deadline passed.
        Abandoned = "abandoned",
        /// It was undone.
        Cancelled = "cancelled",
        /// A provider refused to release a reservation.
        CancelFailed = "cancel_failed",
        /// A refund was requested.
        RefundRequested = "refund_requested",
        /// The refund succeeded.
        RefundCompleted = "refund_completed",
        /// A provider refused the refund.
        RefundFailed = "refund_failed",
        /// The reservation of one card was released.
        SlotCancelled = "slot_cancelled",
    }
}

words! {
    /// What was done at an entry of the history of a purchase.
    #[schema(as = PurchaseAction)]
    Action {
        /// The status of the purchase or of a card changed.
        StatusChanged = "statusChanged",
        /// The merchant, or `capture: true`, requested the capture.
        CaptureRequested = "captureRequested",
        /// The capture succeeded.
        CaptureCompleted = "captureCompleted",
        /// A provider refused the capture.
        CaptureFailed = "captureFailed",
        /// The merchant requested a void.
        VoidRequested = "voidRequested",
        /// It was undone.
        VoidCompleted = "voidCompleted",
        /// A provider refused the void.
        VoidFailed = "voidFailed",
        /// A refund was requested.
        RefundRequested = "refundRequested",
        /// The refund succeeded.
        RefundCompleted = "refundCompleted",
        /// A provider refused the refund.
        RefundFailed = "refundFailed",
        /// The charge of one card was voided before capture.
        ChargeCancelled = "chargeCancelled",
    }
}
