//! A test of Playwright, imported, passes on a real Chromium.

use crate::support::chromium;
use crate::support::lab::{Lab, Runtime};
use crate::support::web_shop::Shop;

const TEST: &str = "\
import { test, expect } from '@playwright/test';

test.describe('search', () => {
  test.beforeEach(async ({ page }) => {
    await page.goto('/search');
  });

  test('finds mugs', async ({ page }) => {
    // Search for mugs
    await page.getByRole('searchbox', { name: 'What are you looking for?' }).fill('mug');
    await page.getByRole('button', { name: 'Find' }).click();
    await expect(page.getByText('3 results for mug')).toBeVisible({ timeout: 20000 });
    await expect(page.locator('#results li')).toHaveCount(3);
    await expect(page.locator('#results li').first()).toContainText('mug');
    await expect(page).toHaveURL(/search/);
  });
});
";

#[test]
fn a_test_of_playwright_passes_on_the_example_shop() {
    let Some(lab) = Lab::under(Runtime::Node) else { return };
    let Some(shared) = chromium::shared() else { return };
    let path = std::env::var_os("PATH").unwrap_or_default();
    lab.example("web-shop").env("PATH", path.to_string_lossy());
    lab.with("trailblaze.yaml", &format!("{}browser: {{attach: '{shared}'}}\n", lab.project.read("trailblaze.yaml")));
    let server = Shop::open(&lab.project.root().join("bin/node"), lab.project.root());
    lab.with("tests/search.spec.ts", TEST);
    let imported = lab.project.run(&["import", "playwright", "tests/search.spec.ts", "--base-url", &server.address]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let trail = "trails/search/search-finds-mugs.trail.yaml";
    assert_eq!(imported.stdout, format!("{trail}\n"));
    let ran = lab.project.run(&["run", trail, "-d", "web/chromium"]);
    assert_eq!(ran.code, Some(0), "{}{}\n{}", ran.stdout, ran.stderr, lab.project.read(trail));
}
