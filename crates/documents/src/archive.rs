//! Files for archives: PDF/A-1b (ISO 19005-1), which says what colours mean, has its fonts inside, and tells of itself in XMP.

use jiff::tz::TimeZone;
use pdf_writer::types::OutputIntentSubtype;
use pdf_writer::writers::Catalog;
use pdf_writer::{Date, Filter, Finish, Pdf, Ref, TextStr};
use regente_domain::time::Timestamp;
use uuid::Uuid;

use crate::font::compressed;

/// What made the file.
pub(crate) const PRODUCER: &str = "Regente";
/// The colour space that colours are meant in.
const SRGB: &[u8] = include_bytes!("../colors/sRGB-v2-micro.icc");
const SRGB_NAME: &str = "sRGB IEC61966-2.1";
/// PDF/A-1 is PDF 1.4.
const VERSION: (u8, u8) = (1, 4);

/// What a file for an archive says of itself.
pub(crate) struct Archival {
    /// The language of its texts.
    pub(crate) language: &'static str,
    /// When the document was issued.
    pub(crate) issued_at: Timestamp,
    /// What tells it from any other document, and is the same for the same one.
    pub(crate) id: Uuid,
}

/// Says which colour space the colours of the file are meant in.
pub(crate) fn intent(catalog: &mut Catalog<'_>, profile: Ref) {
    let mut intents = catalog.output_intents();
    intents
        .push()
        .subtype(OutputIntentSubtype::PDFA)
        .output_condition_identifier(TextStr(SRGB_NAME))
        .info(TextStr(SRGB_NAME))
        .dest_output_profile(profile);
    intents.finish();
}

impl Archival {
    /// The date of the document, in UTC.
    pub(crate) fn date(&self) -> Date {
        let at = self.civil();
        let part = |number: i8| u8::try_from(number).unwrap_or_default();
        Date::new(u16::try_from(at.year()).unwrap_or_default())
            .month(part(at.month()))
            .day(part(at.day()))
            .hour(part(at.hour()))
            .minute(part(at.minute()))
            .second(part(at.second()))
            .utc_offset_hour(0)
            .utc_offset_minute(0)
    }

    /// Writes what archives demand: the metadata, which nothing compresses, and the colour space.
    pub(crate) fn write(&self, pdf: &mut Pdf, title: &str, (metadata, profile): (Ref, Ref)) {
        pdf.set_version(VERSION.0, VERSION.1);
        let id = self.id.as_bytes().to_vec();
        pdf.set_file_id((id.clone(), id));
        pdf.metadata(metadata, self.metadata(title).as_bytes());
        let compressed = compressed(SRGB);
        pdf.icc_profile(profile, &compressed).n(3).filter(Filter::FlateDecode);
    }

    /// The XMP packet (ISO 16684-1). Title, producer and date are those of the information dictionary.
    fn metadata(&self, title: &str) -> String {
        let (title, date) = (escaped(title), self.civil().strftime("%Y-%m-%dT%H:%M:%SZ"));
        format!(
            "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n\
             <x:xmpmeta xmlns:x=\"adobe:ns:meta/\">\n\
             <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n\
             <rdf:Description rdf:about=\"\" xmlns:pdfaid=\"http://www.aiim.org/pdfa/ns/id/\">\
             <pdfaid:part>1</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance></rdf:Description>\n\
             <rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">\
             <dc:format>application/pdf</dc:format><dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">{title}</rdf:li>\
             </rdf:Alt></dc:title></rdf:Description>\n\
             <rdf:Description rdf:about=\"\" xmlns:pdf=\"http://ns.adobe.com/pdf/1.3/\">\
             <pdf:Producer>{PRODUCER}</pdf:Producer></rdf:Description>\n\
             <rdf:Description rdf:about=\"\" xmlns:xmp=\"http://ns.adobe.com/xap/1.0/\">\
             <xmp:CreateDate>{date}</xmp:CreateDate></rdf:Description>\n\
             </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"r\"?>"
        )
    }

    fn civil(&self) -> jiff::civil::DateTime {
        let at = jiff::Timestamp::from_millisecond(self.issued_at.as_millis());
        TimeZone::UTC.to_datetime(at.unwrap_or(jiff::Timestamp::UNIX_EPOCH))
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
