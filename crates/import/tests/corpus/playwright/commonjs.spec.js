// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
const { test, expect } = require('@playwright/test');

test('in JavaScript', async ({ page }) => {
  await page.goto('https://playwright.example/');
  await page.getByRole('link', { name: 'Get started' }).click();
  await expect(page.getByRole('heading', { name: 'Installation' })).toBeVisible();
  await expect(page).toHaveTitle(/Playwright/);
});
