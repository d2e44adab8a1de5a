// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('in the page', async ({ page }) => {
  await page.goto('/');
  await page.evaluate(() => localStorage.clear());
  await page.evaluate('window.scrollTo(0, 0)');
  await page.evaluate(([a, b]) => a + b, [1, 2]);
  const title = await page.title();
  expect(title).toBe('Shop');
});
