//! Tests of Playwright, statement by statement.

use trailblaze_import::{ForeignFile, Imported, playwright};

use crate::support::only_trail;

fn import(body: &str) -> Imported {
    let text = format!(
        "import {{ test, expect }} from '@playwright/test';\ntest('a test', async ({{ page }}) => {{\n{body}\n}});\n"
    );
    playwright::import(&[ForeignFile::new("a.spec.ts", text)], Some("https://a.example/"))
}

/// The calls of one statement.
fn calls(statement: &str) -> String {
    let imported = import(&format!("await page.getByText('start').hover();\n{statement}"));
    let text = only_trail(&imported).to_string();
    let calls: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("- ") && !line.contains("ep:") && !line.contains("verify:"))
        .collect();
    calls[1..].join("\n")
}

#[test]
fn a_test_becomes_a_trail() {
    let imported = import(
        "await page.goto('/tasks');\n// Add a task\nawait page.getByLabel('New task').fill('Water');\n\
         await page.getByRole('button', { name: 'Add' }).click();\nawait expect(page.getByTestId('left')).toHaveText('1');\n\
         await page.exposeFunction('sum', sum);",
    );
    assert_eq!(imported.files[0].path, "trails/a/a-test.trail.yaml");
    assert_eq!(
        only_trail(&imported),
        "# Imported from a.spec.ts, a test of Playwright.\nconfig:\n  title: a test\n  devices:\n    web: playwright-native\n  memory:\n    \
         base: https://a.example\n\ntrailhead:\n  step: Open the page as a new visitor\n  tools:\n    - launchApp: {packageId: '{{base}}/tasks'}\n\n\
         trail:\n  - step: Add a task\n    tools:\n      - web_type: {ref: 'textbox \"New task\"', text: Water}\n      \
         - web_click: {ref: 'button \"Add\"'}\n\n  - verify: 'The text of [data-testid=\"left\"] is right'\n    tools:\n      \
         - assertText: {ref: 'css=[data-testid=\"left\"]', is: '1'}\n      # Not imported, a.spec.ts:8:1: code in the page before it loads has no counterpart:\n      \
         #   await page.exposeFunction('sum', sum);\n"
    );
}

#[test]
fn answers_to_requests_become_rules() {
    for (statement, expected) in [
        (
            "page.route('**/api/fruits', async route => { const json = [{ id: 1, name: null }]; await route.fulfill({ json }); });",
            "- web_mockRequest: {pattern: '**/api/fruits', json: [{id: 1, name: null}]}",
        ),
        (
            "page.route(/\\/api\\/pay/, route => route.fulfill({ status: 500, contentType: 'text/plain', body: 'no' }), { times: 1 });",
            "- web_mockRequest: {pattern: /api/pay, status: 500, headers: {content-type: text/plain}, body: no, times: 1}",
        ),
        (
            "page.route('**/*.png', route => route.abort('timedout'));",
            "- web_abortRequest: {pattern: '**/*.png', error: TIMED_OUT}",
        ),
        ("page.unroute('**/*.png');", "- web_removeNetworkRules: {pattern: '**/*.png'}"),
        (
            "page.routeFromHAR('a.har', { url: '**/api/**', notFound: 'fallback' });",
            "- web_replayHar: {file: a.har, pattern: '**/api/**', missing: CONTINUE}",
        ),
    ] {
        assert_eq!(calls(&format!("await {statement}")).replace("'no'", "no"), expected, "{statement}");
    }
    for (statement, reason) in [
        ("page.route('**', route => { if (x) route.abort(); else route.continue(); });", "a handler that decides"),
        ("page.route('**', route => route.fulfill({ response }));", "`response` of an answer"),
        ("page.route('**', route => route.fulfill({ json: load() }));", "a value is only known when the test runs"),
        ("page.route(/a|b/, route => route.abort());", "the pattern /a|b/ of addresses"),
        ("page.route('**', route => route.continue({ headers }));", "`continue` of a request"),
    ] {
        let imported = import(&format!("await {statement}"));
        let note = imported.statements[0].note().unwrap_or_default();
        assert!(note.starts_with(reason), "{statement}: {note}");
    }
}

#[test]
fn locators_become_descriptions() {
    for (locator, expected) in [
        ("page.getByRole('button', { name: 'Pay', exact: true })", "{ref: 'button \"Pay\"'}"),
        ("page.getByText('Sold out')", "{ref: '\"Sold out\"'}"),
        ("page.locator('.total')", "{ref: css=.total}"),
        ("page.locator('.a').locator('.b').nth(2)", "{ref: css=.a .b, index: 2}"),
        (
            "page.getByRole('listitem').filter({ hasText: 'Mug' }).getByRole('button')",
            "{ref: 'button in listitem \"Mug\"'}",
        ),
        ("page.locator('li', { hasText: 'Mug' }).first()", "{ref: 'css=li \"Mug\"', index: 0}"),
        ("page.frameLocator('#f').getByRole('link')", "{ref: link}"),
        ("page.getByRole('link', { name: /^go$/i })", "{nodeSelector: {web: {ariaRole: link, ariaNameRegex: (?i)go}}}"),
    ] {
        assert_eq!(calls(&format!("await {locator}.click();")), format!("- web_click: {expected}"), "{locator}");
    }
    for (locator, reason) in [
        ("page.locator('//a')", "XPath is not available"),
        ("page.getByRole('link').last()", "the last of several elements"),
        ("page.locator('a').or(page.locator('b'))", "`or` of locators"),
    ] {
        let imported = import(&format!("await {locator}.click();"));
        let note = imported.statements[0].note().unwrap_or_default();
        assert!(note.starts_with(reason), "{locator}: {note}");
    }
}

#[test]
fn expectations_become_checks() {
    for (expected, call) in [
        ("expect(page.getByText('left')).toBeVisible()", "- web_verifyTextVisible: {text: left}"),
        ("expect(page.locator('.e')).not.toBeVisible()", "- assertNotVisible: {ref: css=.e}"),
        ("expect(page.getByRole('listitem')).toHaveCount(3)", "- assertCount: {ref: listitem, equals: 3}"),
        ("expect(page.locator('p')).toContainText(/a b/)", "- assertText: {ref: css=p, matches: '.*a b.*'}"),
        ("expect(page).toHaveURL('/done')", "- web_assertUrl: {is: '{{base}}/done'}"),
        ("expect(page).toHaveTitle(/^Shop/)", "- web_assertTitle: {matches: Shop.*}"),
        (
            "expect(page.locator('p')).toHaveScreenshot(['a', 'b.png'], { maxDiffPixelRatio: 0.1, mask: [page.getByText('12')] })",
            "- assertPicture: {name: a-b, ref: css=p, threshold: 0.1, masks: [{ref: '\"12\"'}]}",
        ),
        (
            "expect(page).toMatchAriaSnapshot('- button /Pay \\\\d+/')",
            "- assertTree: {tree: '- button /.*Pay \\d+.*/'}",
        ),
        (
            "expect(page.getByLabel('News')).not.toBeChecked()",
            "- assertState: {ref: 'checkbox \"News\"', checked: false}",
        ),
        (
            "expect.soft(page.locator('p')).toBeEnabled({ timeout: 9 })",
            "- assertState: {ref: css=p, enabled: true, timeoutMs: 9}",
        ),
    ] {
        assert_eq!(calls(&format!("await {expected};")), call, "{expected}");
    }
    let imported = import("await expect.soft(page.locator('p')).toBeEnabled();");
    assert!(only_trail(&imported).contains("        soft: true\n"));
}

#[test]
fn a_popup_is_a_tab_and_a_download_is_waited_for() {
    let made = calls(
        "const p = page.waitForEvent('popup');\nawait page.getByText('Chat').click();\nconst page1 = await p;\n\
         await page1.getByText('Hi').click();\nawait page.getByText('Home').click();\n\
         const d = page.waitForEvent('download');\nconst download = await d;",
    );
    assert_eq!(
        made,
        "- web_click: {ref: '\"Chat\"'}\n- web_click: {ref: '\"Hi\"'}\n- web_tabs: {action: SELECT, index: 0}\n\
         - web_click: {ref: '\"Home\"'}\n- web_download: {}"
    );
}

#[test]
fn what_is_only_known_in_a_run_is_kept_with_its_source() {
    let imported = import(
        "const n = await page.locator('li').count();\nif (n > 1) {\n  await page.reload();\n}\nawait page.goto('/');",
    );
    let text = only_trail(&imported);
    assert!(text.contains("#   if (n > 1) {\n") && text.contains("#     await page.reload();\n"), "{text}");
}

#[test]
fn a_file_that_is_no_script_is_refused_with_its_place() {
    let imported = playwright::import(&[ForeignFile::new("a.spec.ts", "test('a',\n  async ( => {});\n")], None);
    assert!(imported.files.is_empty());
    assert!(imported.problems[0].to_string().starts_with("a.spec.ts:2:"), "{}", imported.problems[0]);
    let deep = "(".repeat(100_000);
    let imported = playwright::import(&[ForeignFile::new("a.spec.ts", deep)], None);
    assert!(imported.problems[0].to_string().contains("nested too deeply"), "{}", imported.problems[0]);
}

#[test]
fn functions_of_the_file_are_written_out_with_their_parameters() {
    let calls = |function: &str, call: &str| {
        let text = format!(
            "import {{ test }} from '@playwright/test';\ntest('a', async ({{ page }}) => {{\n  await {call};\n}});\n{function}\n"
        );
        let imported = playwright::import(&[ForeignFile::new("a.spec.ts", text)], None);
        let text = only_trail(&imported).to_string();
        let calls: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with("- web_")).collect();
        assert!(!text.contains("Not imported"), "{text}");
        calls.join("\n")
    };
    let fill = "await page.getByLabel('Name').fill(name);";
    let ada = "- web_type: {ref: 'textbox \"Name\"', text: Ada}";
    assert_eq!(calls(&format!("async function signIn(page, name: string) {{ {fill} }}"), "signIn(page, 'Ada')"), ada);
    assert_eq!(calls(&format!("async function signIn(page, name = 'Ada') {{ {fill} }}"), "signIn(page)"), ada);
    let fields = "async function signIn({ page, user: name = 'Ada' }) { await page.getByLabel('Name').fill(name); }";
    assert_eq!(calls(fields, "signIn({ page })"), ada);
    assert_eq!(calls(fields, "signIn({ page, user: 'Bob' })"), ada.replace("Ada", "Bob"));
    let nth = "const open = async (page, nth) => { await page.locator('li').nth(nth).click(); };";
    assert_eq!(calls(nth, "open(page, 2)"), "- web_click: {ref: css=li, index: 2}");
}
