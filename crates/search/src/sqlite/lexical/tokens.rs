//! Our words as tantivy's tokens.

use tantivy::Index;
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};

use crate::query::words::Words;

/// The tokenizer's name in the index.
pub(super) const NAME: &str = "code";

pub(super) fn register(index: &Index) {
    index.tokenizers().register(NAME, TextAnalyzer::from(CodeTokenizer));
}

#[derive(Clone)]
struct CodeTokenizer;

struct CodeTokens<'a> {
    words: Words<'a>,
    token: Token,
}

impl Tokenizer for CodeTokenizer {
    type TokenStream<'a> = CodeTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> CodeTokens<'a> {
        CodeTokens { words: Words::new(text, true), token: Token { position: 0, ..Token::default() } }
    }
}

impl TokenStream for CodeTokens<'_> {
    fn advance(&mut self) -> bool {
        // Positions are not indexed; tantivy only wants them not to run backwards.
        self.token.position = self.token.position.wrapping_add(1);
        self.words.next(&mut self.token.text)
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
