//! What a report can show: the keys of contract and interface, their titles, and which of them each type of report has, in order.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{ReportLanguage, ReportType};

macro_rules! columns {
    ($($variant:ident = $key:literal $(, $title:literal)?;)*) => {
        /// A column of a report.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[expect(missing_docs, reason = "the keys say it")]
        pub enum Column { $($variant),* }

        const ALL: &[(Column, &str, Option<&str>)] =
            &[$((Column::$variant, $key, columns!(@title $($title)?))),*];
    };
    (@title $title:literal) => { Some($title) };
    (@title) => { None };
}

columns! {
    TransactionCreatedAt = "transaction__created_at", "Data da Criação";
    TransactionId = "transaction__id", "ID da Cobrança";
    TransactionOrderId = "transaction__order_id", "ID do pedido";
    SessionId = "session__id";
    TransactionMerchantId = "transaction__merchant_id", "Subconta";
    TransactionDescription = "transaction__description", "Descrição";
    TransactionSourcePaymentMethod = "transaction_source__payment_method", "Método de Pagamento";
    ProviderName = "provider__name", "Provedor";
    TransactionCurrency = "transaction__currency", "Moeda";
    TransactionOriginalAmount = "transaction__original_amount", "Valor Original";
    TransactionAmount = "transaction__amount", "Valor Final";
    TransactionInstallments = "transaction__installments", "Parcelas";
    TransactionStatus = "transaction__status", "Status";
    NupayPaymentType = "nupay__payment_type";
    NupayInstallmentsNumber = "nupay__installments_number";
    CardBrandBrand = "card_brand__brand";
    CardNumber = "card__number";
    CardHolderName = "card__holder_name";
    TransactionStatementDescriptor = "transaction__statement_descriptor", "Descrição no Recibo";
    TransactionRequestTokenizedPayment = "transaction_request__tokenized_payment";
    TokenCreatedAt = "token__created_at";
    CustomerId = "customer__id", "ID do Cliente";
    CustomerName = "customer__name", "Nome";
    CustomerEmail = "customer__email", "Email";
    CustomerPhoneNumber = "customer__phone_number", "Telefone";
    CustomerDocumentNumber = "customer__document_number", "Documento";
    CustomerAddressStreet = "customer_address__street", "Endereço";
    CustomerAddressStreetNumber = "customer_address__street_number", "Número";
    CustomerAddressComplement = "customer_address__complement", "Complemento";
    CustomerAddressZipCode = "customer_address__zip_code", "CEP";
    CustomerAddressState = "customer_address__state", "Estado";
    CustomerAddressCity = "customer_address__city", "Cidade";
    CustomerAddressDistrict = "customer_address__district", "Bairro";
    CustomerAddressCountry = "customer_address__country", "País";
    TransactionRequestNetworkTransactionId = "transaction_request__network_transaction_id";
    TransactionRequestAuthorizationCode = "transaction_request__authorization_code";
    TransactionRequestAuthorizationNsu = "transaction_request__authorization_nsu";
    TransactionRequestIdempotencyKey = "transaction_request__idempotency_key";
    ProviderErrorRetryable = "provider_error__retryable";
    ProviderErrorDeclinedCode = "provider_error__declined_code";
    ProviderErrorNetworkDeniedReason = "provider_error__network_denied_reason";
    MerchantName = "merchant__name";
    CustomerClientId = "customer__client_id";
    CustomerAddressId = "customer__customer_adress_id", "ID Endereço";
    TransactionRequestCreatedAt = "transaction_request__created_at", "Data do Pagamento";
    TransactionRequestPaymentMethod = "transaction_request__payment_method", "Método de Pagamento";
    TransactionRequestProviderId = "transaction_request__provider_id", "ID do provedor";
    TransactionSourceCardId = "transaction_source__card_id";
    TransactionClientId = "transaction__client_id";
    TransactionIdempotencyKey = "transaction__idempotency_key";
    TransactionSourcePaymentMethodRecurrence = "transaction_source__payment_method_recurrence";
    TransactionCapture = "transaction__capture";
    TransactionPaymentFlowId = "transaction__payment_flow_id";
    PaymentFlowMetadata = "payment_flow__metadata";
    CardCardId = "card__card_id";
    TransactionResponsibleProviderId = "transaction__responsible_provider_id";
    TransactionResponsibleProviderType = "transaction__responsible_provider_type";
    TransactionIsDispute = "transaction__is_dispute";
    RiskCustomerName = "fraud_analysis_customer_metadata__name";
    RiskCustomerIdentity = "fraud_analysis_customer_metadata__identity";
    RiskCustomerEmail = "fraud_analysis_customer_metadata__email";
    RiskCustomerPhone = "fraud_analysis_customer_metadata__phone";
    RiskBillingStreet = "fraud_analysis_customer_address_metadata__street";
    RiskBillingNumber = "fraud_analysis_customer_address_metadata__number";
    RiskBillingComplement = "fraud_analysis_customer_address_metadata__complement";
    RiskBillingZipCode = "fraud_analysis_customer_address_metadata__zip_code";
    RiskBillingCity = "fraud_analysis_customer_address_metadata__city";
    RiskBillingState = "fraud_analysis_customer_address_metadata__state";
    RiskBillingDistrict = "fraud_analysis_customer_address_metadata__district";
    RiskBillingCountry = "fraud_analysis_customer_address_metadata__country";
    RiskDeliveryStreet = "fraud_analysis_customer_delivery_address_metadata__street";
    RiskDeliveryNumber = "fraud_analysis_customer_delivery_address_metadata__number";
    RiskDeliveryComplement = "fraud_analysis_customer_delivery_address_metadata__complement";
    RiskDeliveryZipCode = "fraud_analysis_customer_delivery_address_metadata__zip_code";
    RiskDeliveryCity = "fraud_analysis_customer_delivery_address_metadata__city";
    RiskDeliveryState = "fraud_analysis_customer_delivery_address_metadata__state";
    RiskDeliveryDistrict = "fraud_analysis_customer_delivery_address_metadata__district";
    RiskDeliveryCountry = "fraud_analysis_customer_delivery_address_metadata__country";
    TransactionRequestUpdatedAt = "transaction_request__updated_at";
    TransactionRequestId = "transaction_request__id";
    TransactionRequestProviderType = "transaction_request__provider_type";
    TransactionRequestRequestType = "transaction_request__request_type";
    TransactionRequestResponseTs = "transaction_request__response_ts";
    TransactionRequestAmount = "transaction_request__amount";
    TransactionRequestRequestStatus = "transaction_request__request_status";
    ProviderErrorNetworkDeniedMessage = "provider_error__network_denied_message";
    ProviderErrorMessage = "provider_error__message";
    ProviderAuthorizationNetworkResponseCode = "provider_authorization__network_response_code";
    TransactionRequestResponseCode = "transaction_request__response_code";
    AnalysisScore = "transaction_request_fraud_analysis__score";
    AnalysisStatus = "transaction_request_fraud_analysis__fraud_analysis";
}

/// The columns of [`ReportType::Transactions`], in the order of a file.
#[rustfmt::skip]
const TRANSACTIONS: &[Column] = &[
    Column::TransactionCreatedAt, Column::TransactionId, Column::TransactionOrderId, Column::SessionId,
    Column::TransactionMerchantId, Column::TransactionDescription, Column::TransactionSourcePaymentMethod,
    Column::ProviderName, Column::TransactionCurrency, Column::TransactionOriginalAmount,
    Column::TransactionAmount, Column::TransactionInstallments, Column::TransactionStatus,
    Column::NupayPaymentType, Column::NupayInstallmentsNumber, Column::CardBrandBrand, Column::CardNumber,
    Column::CardHolderName, Column::TransactionStatementDescriptor,
    Column::TransactionRequestTokenizedPayment, Column::TokenCreatedAt, Column::CustomerId,
    Column::CustomerName, Column::CustomerEmail, Column::CustomerPhoneNumber, Column::CustomerDocumentNumber,
    Column::CustomerAddressStreet, Column::CustomerAddressStreetNumber, Column::CustomerAddressComplement,
    Column::CustomerAddressZipCode, Column::CustomerAddressState, Column::CustomerAddressCity,
    Column::CustomerAddressDistrict, Column::CustomerAddressCountry,
    Column::TransactionRequestNetworkTransactionId, Column::TransactionRequestAuthorizationCode,
    Column::TransactionRequestAuthorizationNsu, Column::TransactionRequestIdempotencyKey,
    Column::ProviderErrorRetryable, Column::ProviderErrorDeclinedCode,
    Column::ProviderErrorNetworkDeniedReason, Column::MerchantName,
];

/// The columns of [`ReportType::TransactionsHistory`], in the order of a file.
#[rustfmt::skip]
const HISTORY: &[Column] = &[
    Column::TransactionCreatedAt, Column::TransactionId, Column::TransactionOrderId,
    Column::TransactionIdempotencyKey, Column::TransactionMerchantId, Column::MerchantName,
    Column::TransactionSourcePaymentMethodRecurrence, Column::TransactionCapture,
    Column::TransactionDescription, Column::SessionId, Column::TransactionPaymentFlowId,
    Column::PaymentFlowMetadata, Column::TransactionSourcePaymentMethod, Column::NupayPaymentType,
    Column::CardCardId, Column::CardHolderName, Column::CardNumber, Column::CardBrandBrand,
    Column::TransactionStatementDescriptor, Column::TransactionRequestTokenizedPayment,
    Column::TokenCreatedAt, Column::TransactionResponsibleProviderId,
    Column::TransactionResponsibleProviderType, Column::TransactionCurrency, Column::TransactionAmount,
    Column::TransactionOriginalAmount, Column::TransactionInstallments, Column::NupayInstallmentsNumber,
    Column::TransactionStatus, Column::TransactionIsDispute, Column::CustomerId, Column::CustomerName,
    Column::RiskCustomerName, Column::RiskCustomerIdentity, Column::CustomerDocumentNumber,
    Column::RiskCustomerEmail, Column::CustomerEmail, Column::CustomerPhoneNumber, Column::RiskCustomerPhone,
    Column::RiskBillingStreet, Column::RiskBillingNumber, Column::RiskBillingComplement,
    Column::RiskBillingZipCode, Column::RiskBillingCity, Column::RiskBillingState,
    Column::RiskBillingDistrict, Column::RiskBillingCountry, Column::RiskDeliveryStreet,
    Column::RiskDeliveryNumber, Column::RiskDeliveryComplement, Column::RiskDeliveryZipCode,
    Column::RiskDeliveryCity, Column::RiskDeliveryState, Column::RiskDeliveryDistrict,
    Column::RiskDeliveryCountry, Column::CustomerAddressStreet, Column::CustomerAddressStreetNumber,
    Column::CustomerAddressComplement, Column::CustomerAddressZipCode, Column::CustomerAddressCity,
    Column::CustomerAddressState, Column::CustomerAddressDistrict, Column::CustomerAddressCountry,
    Column::TransactionRequestCreatedAt, Column::TransactionRequestUpdatedAt, Column::TransactionRequestId,
    Column::TransactionRequestProviderId, Column::TransactionRequestAuthorizationNsu,
    Column::TransactionRequestNetworkTransactionId, Column::TransactionRequestIdempotencyKey,
    Column::TransactionRequestProviderType, Column::TransactionRequestAuthorizationCode,
    Column::TransactionRequestRequestType, Column::TransactionRequestResponseTs,
    Column::TransactionRequestAmount, Column::TransactionRequestRequestStatus,
    Column::ProviderErrorNetworkDeniedMessage, Column::ProviderErrorMessage,
    Column::ProviderAuthorizationNetworkResponseCode, Column::TransactionRequestResponseCode,
    Column::ProviderErrorDeclinedCode, Column::ProviderErrorNetworkDeniedReason,
    Column::ProviderErrorRetryable, Column::AnalysisScore, Column::AnalysisStatus,
];

/// Columns of earlier lists, which both types take; `all` leaves them out.
#[rustfmt::skip]
const EARLIER: &[Column] = &[
    Column::CustomerClientId, Column::CustomerAddressId, Column::TransactionRequestCreatedAt,
    Column::TransactionRequestPaymentMethod, Column::TransactionRequestProviderId,
    Column::TransactionSourceCardId, Column::TransactionClientId,
];

const _: () = {
    let mut row = 0;
    while row < ALL.len() {
        assert!(ALL[row].0 as usize == row, "a column stands in the wrong place");
        row += 1;
    }
};

impl Column {
    /// Every column.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().map(|(column, ..)| *column)
    }

    /// The columns of a type, in the order of a file.
    pub fn of(report_type: ReportType) -> impl Iterator<Item = Self> {
        let columns = match report_type {
            ReportType::Transactions => TRANSACTIONS,
            ReportType::TransactionsHistory => HISTORY,
        };
        columns.iter().copied()
    }

    /// These columns in the order of a file.
    pub fn in_order(chosen: &[Self], report_type: ReportType) -> Vec<Self> {
        let of_type = Self::of(report_type);
        let earlier =
            EARLIER.iter().copied().filter(|column| Self::of(report_type).all(|other| other != *column));
        of_type.chain(earlier).filter(|column| chosen.contains(column)).collect()
    }

    /// Whether a report of this type may have it.
    pub fn fits(self, report_type: ReportType) -> bool {
        EARLIER.contains(&self) || Self::of(report_type).any(|column| column == self)
    }

    /// Whether it shows something of a person, or a text that may name one.
    pub fn is_personal(self) -> bool {
        let begins =
            ["customer", "card", "fraud_analysis_customer", "payment_flow__", "transaction__description"];
        begins.iter().any(|begin| self.key().starts_with(begin))
    }

    /// Its key in the interface.
    pub const fn key(self) -> &'static str {
        ALL[self as usize].1
    }

    /// The inverse of [`Self::key`].
    pub fn parse(key: &str) -> Option<Self> {
        ALL.iter().find(|(_, known, _)| *known == key).map(|(column, ..)| *column)
    }

    /// Its title. What has no Portuguese one is titled by its key: `Provider Error Retryable`.
    pub fn title(self, language: ReportLanguage) -> String {
        let (_, key, portuguese) = ALL[self as usize];
        match portuguese {
            Some(title) if language.is_portuguese() => title.to_owned(),
            Some(_) | None => titled(key),
        }
    }
}

fn titled(key: &str) -> String {
    let mut title = String::new();
    for word in key.split('_').filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        if !title.is_empty() {
            title.push(' ');
        }
        title.push_str(&first.to_ascii_uppercase());
        title.push_str(rest);
    }
    title
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = std::borrow::Cow::<'_, str>::deserialize(deserializer)?;
        Self::parse(&key).ok_or_else(|| de::Error::custom("no column of a report"))
    }
}
