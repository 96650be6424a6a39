//! The PDF file under construction. Pages are drawn on one thread and added to the file on another, because each
//! of these steps takes about half the time.

use std::num::NonZeroU32;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use krilla::metadata::Metadata;
use krilla::page::{NumberingStyle, PageLabel};

use crate::drawn::DrawnPage;
use crate::fonts::Fonts;
use crate::press::{Bookmark, Press};
use crate::sheet::Sheet;

/// Maximum number of pages that have been drawn but not yet added to the file.
const MOST_PENDING: usize = 4;

/// A PDF file to which pages are added.
pub struct PdfWriter {
    /// Fonts of all pages.
    pub fonts: Fonts,
    printer: Printer,
    bookmarks: Vec<Bookmark>,
    /// Label of the next page: prefix, and number if it is numbered.
    label: (String, Option<NonZeroU32>),
}

/// Where pages are added to the file.
enum Printer {
    /// On another thread.
    There(Thread),
    /// On the current thread, because no other thread could be started.
    Here(Box<Press>),
}

/// A thread that ends after [`Message::End`] or an error.
struct Thread {
    messages: SyncSender<Message>,
    /// Pages that have been added. They are dropped by the thread that drew them: if a thread frees another thread's
    /// memory, the two wait for each other.
    used: Receiver<DrawnPage>,
    handle: JoinHandle<Result<Vec<u8>, String>>,
}

enum Message {
    Page(DrawnPage),
    End(Metadata, Vec<Bookmark>),
}

impl PdfWriter {
    /// Creates an empty file.
    ///
    /// # Errors
    /// Returns an error if an embedded font is damaged.
    pub fn new() -> Result<Self, String> {
        let (messages, receiver) = sync_channel(MOST_PENDING);
        let (sender, used) = channel();
        let printer = match Builder::new().spawn(move || printed(&receiver, &sender)) {
            Ok(handle) => Printer::There(Thread { messages, used, handle }),
            Err(_) => Printer::Here(Box::new(Press::new()?)),
        };
        let label = (String::new(), Some(NonZeroU32::MIN));
        Ok(Self { fonts: Fonts::load()?, printer, bookmarks: Vec::new(), label })
    }

    /// Sets the labels that viewers show for the following pages: `prefix`, followed by a number, starting at 1, if
    /// `is_numbered` is set.
    pub fn label(&mut self, prefix: &str, is_numbered: bool) {
        self.label = (prefix.to_owned(), is_numbered.then_some(NonZeroU32::MIN));
    }

    /// Adds a bookmark to the page with this index.
    pub fn bookmark(&mut self, title: String, page: usize) {
        self.bookmarks.push(Bookmark { title, page, inner: Vec::new() });
    }

    /// Adds a bookmark under the last bookmark.
    pub fn inner_bookmark(&mut self, title: String, page: usize) {
        match self.bookmarks.last_mut() {
            Some(outer) => outer.inner.push((title, page)),
            None => self.bookmark(title, page),
        }
    }

    /// Adds one page, drawn by the callback.
    pub fn page(&mut self, draw: impl FnOnce(&mut Sheet<'_>) -> Result<(), String>) -> Result<(), String> {
        let (prefix, number) = &mut self.label;
        let style = number.map(|_| NumberingStyle::Arabic);
        let label = PageLabel::new(style, (!prefix.is_empty()).then(|| prefix.clone()), *number);
        *number = number.and_then(|number| number.checked_add(1));
        let mut sheet = Sheet::new(&self.fonts);
        draw(&mut sheet)?;
        let page = DrawnPage { label, operations: sheet.operations() };
        match &mut self.printer {
            Printer::Here(press) => press.page(&page),
            Printer::There(thread) => {
                thread.used.try_iter().for_each(drop);
                // If the thread has ended early, `finish` returns its error.
                let _ = thread.messages.send(Message::Page(page));
                Ok(())
            }
        }
    }

    /// Completes the file.
    pub fn finish(self, metadata: Metadata) -> Result<Vec<u8>, String> {
        match self.printer {
            Printer::Here(press) => press.finish(metadata, self.bookmarks),
            Printer::There(thread) => {
                let _ = thread.messages.send(Message::End(metadata, self.bookmarks));
                thread.handle.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
        }
    }
}

/// Adds all pages to a file.
fn printed(messages: &Receiver<Message>, used: &Sender<DrawnPage>) -> Result<Vec<u8>, String> {
    let mut press = Press::new()?;
    for message in messages {
        match message {
            Message::Page(page) => {
                press.page(&page)?;
                let _ = used.send(page);
            }
            Message::End(metadata, bookmarks) => return press.finish(metadata, bookmarks),
        }
    }
    Err("the PDF was not completed".into())
}
