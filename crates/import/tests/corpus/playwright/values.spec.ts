// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('values of the page', async ({ page }) => {
  await page.goto('/');
  const count = await page.getByRole('listitem').count();
  expect(count).toBeGreaterThan(2);
  const price = await page.locator('.price').innerText();
  expect(price).toContain('9');
  await expect(async () => { expect(1).toBe(1); }).toPass();
  await expect.poll(() => count).toBe(3);
});
