//! The programs of others that read what was drawn (`scripts/install-tools` installs them).

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

/// Dots an inch at which a PDF is read: a good printer, and a scanner.
const DOTS_PER_INCH: &str = "300";

/// What `zbarimg` reads in a picture: type and data of each code, one a line.
pub(crate) fn codes_in_picture(picture: &[u8]) -> Vec<String> {
    let folder = tempdir().unwrap();
    let file = folder.path().join("picture.png");
    fs::write(&file, picture).unwrap();
    codes(&file)
}

/// What `zbarimg` reads on the first page of a PDF.
pub(crate) fn codes_in_pdf(pdf: &[u8]) -> Vec<String> {
    let folder = tempdir().unwrap();
    let (file, page) = (folder.path().join("file.pdf"), folder.path().join("page"));
    fs::write(&file, pdf).unwrap();
    run(Command::new("pdftoppm").args(["-r", DOTS_PER_INCH, "-png", "-singlefile"]).arg(&file).arg(&page));
    codes(&page.with_extension("png"))
}

/// The text of a PDF, as one who selects and copies it gets it.
pub(crate) fn text_of_pdf(pdf: &[u8]) -> String {
    on_pdf("pdftotext", &["-layout", "-enc", "UTF-8"], pdf, &["-"])
}

/// The table of fonts of a PDF, as `pdffonts` prints it.
pub(crate) fn fonts_of_pdf(pdf: &[u8]) -> String {
    on_pdf("pdffonts", &[], pdf, &[])
}

fn on_pdf(program: &str, before: &[&str], pdf: &[u8], after: &[&str]) -> String {
    let folder = tempdir().unwrap();
    let file = folder.path().join("file.pdf");
    fs::write(&file, pdf).unwrap();
    run(Command::new(program).args(before).arg(&file).args(after))
}

fn codes(picture: &Path) -> Vec<String> {
    let read = run(Command::new("zbarimg")
        .args(["--quiet", "--nodbus", "-Sdisable", "-Sqrcode.enable", "-Si25.enable"])
        .arg(picture));
    let mut codes: Vec<String> = read.lines().map(str::to_owned).collect();
    codes.sort();
    codes
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The jars of the validator, which Debian packages with PDFBox.
const VALIDATOR: &str = "/usr/share/java/preflight.jar:/usr/share/java/pdfbox2.jar:/usr/share/java/fontbox2.jar:\
                         /usr/share/java/xmpbox.jar:/usr/share/java/commons-logging.jar:/usr/share/java/commons-io.jar:\
                         /usr/share/java/javax.activation.jar:/usr/share/java/jaxb-api.jar";

/// What PDFBox Preflight says of a file as PDF/A-1b (ISO 19005-1): its complaints, none of a file that conforms.
pub(crate) fn complaints_of_archives(pdf: &[u8]) -> String {
    let folder = tempdir().unwrap();
    let file = folder.path().join("file.pdf");
    fs::write(&file, pdf).unwrap();
    let mut command = Command::new("java");
    command.args(["-cp", VALIDATOR, "org.apache.pdfbox.preflight.Validator_A1b"]).arg(&file);
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.success() && said.contains("is a valid PDF/A-1b file") {
        true => String::new(),
        false => said,
    }
}

/// The files in a ZIP, by their names, as Python reads them.
pub(crate) fn files_in_zip(zip: &[u8]) -> Vec<(String, Vec<u8>)> {
    let folder = tempdir().unwrap();
    let (file, into) = (folder.path().join("file.zip"), folder.path().join("into"));
    fs::write(&file, zip).unwrap();
    run(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&file).arg(&into));
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(&into)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}
