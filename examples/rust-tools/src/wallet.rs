//! The tools of the wallet's team.

use serde::{Deserialize, Serialize};
use trailblaze_tools::{Args, Json, Platform, ToolContext, ToolError, ToolResult, toolset};

pub struct Wallet {
    android: &'static str,
    ios: &'static str,
}

/// A payment.
#[derive(Deserialize, schemars::JsonSchema)]
pub struct Payment {
    /// Who gets the money
    to: String,
    /// How much, in euros, such as 12.50
    amount: String,
    /// What it is for
    note: Option<String>,
}

/// How a sign-in went.
#[derive(Serialize)]
struct SignedIn {
    attempts: u32,
}

impl Wallet {
    pub fn new() -> Wallet {
        Wallet { android: "com.example.wallet", ios: "com.example.Wallet" }
    }

    fn app(&self, cx: &ToolContext) -> &'static str {
        match cx.platform() {
            Some(Platform::Ios) => self.ios,
            _ => self.android,
        }
    }
}

#[toolset(platforms = [Android, Ios], toolset = "wallet")]
impl Wallet {
    /// Sign in to the wallet with an email address and a PIN.
    #[tool(name = "wallet_login", groups = ["auth", "setup"])]
    async fn login(
        &self,
        cx: &ToolContext,
        /// The email address of the account
        email: &str,
        /// The PIN of the account
        pin: &str,
    ) -> ToolResult {
        self.setup(cx).await?;
        self.enter(cx, email, pin).await?;
        cx.wait_until_visible("Balance", 10_000).await?;
        self.handle_dialogs(cx).await?;
        Ok("signed in".into())
    }

    /// Sign in, and try again if the wallet does not open. A wrong PIN is not tried again.
    #[tool(name = "wallet_loginWithRetry", groups = ["auth"])]
    async fn login_with_retry(
        &self,
        cx: &ToolContext,
        email: &str,
        pin: &str,
        /// How often to try
        #[arg(name = "maxAttempts", default = 3)]
        max_attempts: u32,
    ) -> ToolResult<Json<SignedIn>> {
        for attempts in 1..=max_attempts {
            cx.progress(format!("attempt {attempts} of {max_attempts}"));
            self.setup(cx).await?;
            self.enter(cx, email, pin).await?;
            if cx.is_visible().text("Balance").timeout_ms(5_000).await? {
                return Ok(Json(SignedIn { attempts }));
            }
            if cx.has_text("Wrong PIN").await? {
                return Err(ToolError::fatal(format!("the PIN of {email} is wrong")));
            }
        }
        Err(ToolError::failed(format!("the wallet did not open in {max_attempts} attempts")))
    }

    /// Send money, and remember the reference of the payment as `reference`.
    #[tool(name = "wallet_send", groups = ["payments"])]
    async fn send(&self, cx: &ToolContext, Args(payment): Args<Payment>) -> ToolResult {
        cx.tap().text("Send money").await?;
        for (field, text) in
            [("recipient", Some(&payment.to)), ("amount", Some(&payment.amount)), ("note", payment.note.as_ref())]
        {
            let Some(text) = text else { continue };
            cx.tap().id(field).await?;
            cx.input_text(text).await?;
        }
        cx.tap().id("review").await?;
        cx.tap().id("confirmSend").await?;
        cx.wait_until_visible(format!("Sent €{} to {}", payment.amount, payment.to), 10_000).await?;
        let reference = cx.get_element_text("reference").await?.unwrap_or_default();
        cx.memory().set("reference", reference.clone());
        cx.tap().text("Done").await?;
        Ok(format!("sent, reference {reference}").into())
    }

    /// Check the balance of the wallet.
    #[tool(name = "wallet_checkBalance", groups = ["payments"])]
    async fn check_balance(
        &self,
        cx: &ToolContext,
        /// The expected balance in euros, such as 107.50
        euros: &str,
    ) -> ToolResult<()> {
        let shown = cx.get_element_text("balance").await?;
        if shown.as_deref() != Some(&format!("€{euros}")) {
            let shown = shown.unwrap_or_else(|| "nothing".to_string());
            return Err(ToolError::assertion(format!("the balance is {shown}, expected €{euros}")));
        }
        Ok(())
    }

    /// Close whatever the wallet asks when it is opened.
    #[tool(name = "wallet_handleDialogs", for_model = false)]
    async fn handle_dialogs(&self, cx: &ToolContext) -> ToolResult<()> {
        if cx.is_visible().id("notNow").timeout_ms(2_000).await? {
            cx.tap().id("notNow").await?;
        }
        Ok(())
    }

    /// Clear the wallet's data and launch it.
    #[tool(name = "wallet_setup", groups = ["setup"], for_model = false, recordable = false)]
    async fn setup(&self, cx: &ToolContext) -> ToolResult<()> {
        let app = self.app(cx);
        cx.clear_app_data(app).await?;
        cx.launch_app().package_id(app).await?;
        Ok(())
    }

    // Not a tool.
    async fn enter(&self, cx: &ToolContext, email: &str, pin: &str) -> ToolResult<()> {
        cx.tap().id("email").await?;
        cx.input_text(email).await?;
        cx.tap().id("pin").await?;
        cx.input_text(pin).await?;
        cx.tap().id("submit").await?;
        Ok(())
    }
}
