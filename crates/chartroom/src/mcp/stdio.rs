//! Lines of a client on stdio: what is no JSON-RPC is answered with its error, and the rest goes on to the server.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::mpsc;

/// What may lie between the client and the server.
const BUFFER: usize = 64 * 1024;
/// Answers that wait for a slow client; the reader waits with them.
const ANSWERS: usize = 16;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;

/// The server's end of the line, and the work of handing on, which ends when both sides have.
pub(crate) fn guarded<R, W>(
    input: R,
    output: W,
) -> ((DuplexStream, DuplexStream), impl Future<Output = ()> + Send)
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (to_server, server_input) = tokio::io::duplex(BUFFER);
    let (server_output, from_server) = tokio::io::duplex(BUFFER);
    let (answers, refused) = mpsc::channel(ANSWERS);
    let handing_on = async move {
        tokio::join!(read(input, to_server, answers), write(from_server, refused, output));
    };
    ((server_input, server_output), handing_on)
}

async fn read(input: impl AsyncRead + Unpin, mut server: DuplexStream, answers: mpsc::Sender<String>) {
    let mut lines = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let gone = match refusal(&line) {
            Some(answer) => answers.send(answer).await.is_err(),
            None => {
                if !line.ends_with(b"\n") {
                    line.push(b'\n');
                }
                server.write_all(&line).await.is_err()
            }
        };
        if gone {
            return;
        }
    }
}

/// Whole lines of either, never one inside the other.
async fn write(
    server: DuplexStream,
    mut refused: mpsc::Receiver<String>,
    mut output: impl AsyncWrite + Unpin,
) {
    let mut lines = BufReader::new(server).lines();
    loop {
        let line = tokio::select! {
            // An answer that waits is given before the end.
            biased;
            Some(answer) = refused.recv() => answer,
            line = lines.next_line() => match line {
                Ok(Some(line)) => line,
                Ok(None) | Err(_) => return,
            },
        };
        let written = async {
            output.write_all(line.as_bytes()).await?;
            output.write_all(b"\n").await?;
            output.flush().await
        };
        if written.await.is_err() {
            return;
        }
    }
}

/// The error for a line that is no message.
fn refusal(line: &[u8]) -> Option<String> {
    let answer = |id: Value, code: i64, message: String| {
        Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string())
    };
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return answer(Value::Null, PARSE_ERROR, format!("this line is no JSON: {error}")),
    };
    let is_message = message["jsonrpc"] == "2.0"
        && ["method", "result", "error"].iter().any(|part| message.get(part).is_some());
    if is_message {
        return None;
    }
    let id = message.get("id").filter(|id| id.is_number() || id.is_string()).cloned().unwrap_or_default();
    answer(id, INVALID_REQUEST, "this is no JSON-RPC 2.0 message".to_owned())
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn what_is_no_message_is_answered_and_the_rest_goes_on() {
        let good = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let input = format!("garbage\n\n{good}\n{{\"id\":7}}\n[]\n");
        let (client, output) = tokio::io::duplex(BUFFER);
        let ((mut server_input, server_output), handing_on) =
            guarded(std::io::Cursor::new(input.into_bytes()), output);
        let handing_on = tokio::spawn(handing_on);
        let mut came = String::new();
        server_input.read_to_string(&mut came).await.unwrap();
        assert_eq!(came, format!("{good}\n"));
        let mut answers = BufReader::new(client).lines();
        for (id, code) in
            [(Value::Null, PARSE_ERROR), (json!(7), INVALID_REQUEST), (Value::Null, INVALID_REQUEST)]
        {
            let answer: Value = serde_json::from_str(&answers.next_line().await.unwrap().unwrap()).unwrap();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
        }
        drop(server_output);
        handing_on.await.unwrap();
    }
}
