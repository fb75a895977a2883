//! Runs the scripted model APIs until it is killed, for trying a CLI by hand: `cargo run -p chartroom-testkit
//! --example model_api`.

#[tokio::main]
async fn main() {
    let api = chartroom_testkit::model_api::ModelApi::start().await;
    eprintln!("ANTHROPIC_BASE_URL={}", api.anthropic_url());
    eprintln!("openai base_url={}", api.openai_url());
    std::future::pending::<()>().await;
}
