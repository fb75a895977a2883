//! What the targets share: a stream cut in two ways must give the same frames.

use bytes::BytesMut;
use chartroom_transport::codec::{Codec, Frame, Framing, parse};
use tokio_util::codec::Decoder;

const MAX_MESSAGE: usize = 64;

/// Takes the first byte as the size of the reads, the rest as the stream.
pub fn any_cut_gives_the_same(framing: Framing, data: &[u8]) {
    let Some((step, stream)) = data.split_first() else { return };
    let whole = decode(framing, stream, stream.len().max(1));
    let pieces = decode(framing, stream, usize::from(*step).max(1));
    assert_eq!(whole, pieces);
    for frame in whole {
        parse(frame);
    }
}

fn decode(framing: Framing, stream: &[u8], step: usize) -> Vec<Frame> {
    let mut codec = Codec::new(framing, MAX_MESSAGE);
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    for piece in stream.chunks(step) {
        buffer.extend_from_slice(piece);
        while let Some(frame) = codec.decode(&mut buffer).expect("content is no error") {
            frames.push(frame);
        }
    }
    while let Some(frame) = codec.decode_eof(&mut buffer).expect("content is no error") {
        frames.push(frame);
    }
    frames
}
