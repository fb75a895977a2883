//! Our words as tantivy's tokens.

use tantivy::Index;
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};

use crate::query::stems::stem;
use crate::query::words::Words;

/// The tokenizer's name in the index.
pub(super) const NAME: &str = "code";
/// The one that gives stems.
pub(super) const STEMS: &str = "stems";

pub(super) fn register(index: &Index) {
    index.tokenizers().register(NAME, TextAnalyzer::from(CodeTokenizer { stems: false }));
    index.tokenizers().register(STEMS, TextAnalyzer::from(CodeTokenizer { stems: true }));
}

#[derive(Clone)]
struct CodeTokenizer {
    stems: bool,
}

struct CodeTokens<'a> {
    words: Words<'a>,
    stems: bool,
    token: Token,
}

impl Tokenizer for CodeTokenizer {
    type TokenStream<'a> = CodeTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> CodeTokens<'a> {
        let token = Token { position: 0, ..Token::default() };
        CodeTokens { words: Words::new(text, !self.stems), stems: self.stems, token }
    }
}

impl TokenStream for CodeTokens<'_> {
    fn advance(&mut self) -> bool {
        // Positions are not indexed; tantivy only wants them not to run backwards.
        self.token.position = self.token.position.wrapping_add(1);
        if !self.words.next(&mut self.token.text) {
            return false;
        }
        if self.stems {
            let length = stem(&self.token.text).len();
            self.token.text.truncate(length);
        }
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
