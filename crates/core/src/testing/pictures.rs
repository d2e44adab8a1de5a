//! Expected pictures that compare as a test says.

use std::collections::VecDeque;

use async_trait::async_trait;
use parking_lot::Mutex;
use trailblaze_protocol::outcome::Attachment;

use crate::record::expected_pictures::{ExpectedPictures, PictureComparison, PictureResult, TakenPicture};

/// Answers with these results in turn, the last of them again and again; without any, no picture is there.
#[derive(Default)]
pub struct TestPictures {
    pub are_renewed: bool,
    pub results: Mutex<VecDeque<PictureResult>>,
    /// The pictures that were compared.
    pub compared: Mutex<Vec<TakenPicture>>,
    /// The names of those that were written.
    pub written: Mutex<Vec<String>>,
}

impl TestPictures {
    pub fn answering(results: impl IntoIterator<Item = PictureResult>) -> TestPictures {
        TestPictures { results: Mutex::new(results.into_iter().collect()), ..TestPictures::default() }
    }
}

#[async_trait]
impl ExpectedPictures for TestPictures {
    fn are_renewed(&self) -> bool {
        self.are_renewed
    }

    async fn compare(&self, taken: &TakenPicture) -> Result<PictureComparison, String> {
        self.compared.lock().push(taken.clone());
        let mut results = self.results.lock();
        let result = if results.len() > 1 { results.pop_front() } else { results.front().cloned() };
        let result = result.unwrap_or_else(|| PictureResult::Missing { others: Vec::new() });
        // What differs in another way is another picture.
        Ok(PictureComparison { file: format!("{}.png", taken.name), fingerprint: format!("{result:?}"), result })
    }

    async fn renew(&self, taken: &TakenPicture) -> Result<String, String> {
        self.written.lock().push(taken.name.clone());
        Ok(format!("{}.png", taken.name))
    }

    async fn evidence(&self, _: &TakenPicture) -> Vec<Attachment> {
        let file = |name: &str| Attachment {
            name: name.to_string(),
            mime: "image/png".to_string(),
            file: None,
            bytes: name.as_bytes().into(),
        };
        vec![file("expected"), file("actual"), file("difference")]
    }
}
