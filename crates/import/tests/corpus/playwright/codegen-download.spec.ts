// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('test', async ({ page }) => {
  await page.goto('https://shop.example/invoices');
  const downloadPromise = page.waitForEvent('download');
  await page.getByRole('link', { name: 'PDF' }).click();
  const download = await downloadPromise;
  expect(download.suggestedFilename()).toBe('invoice.pdf');
});
