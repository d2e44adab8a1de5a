// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('test', async ({ page }) => {
  await page.goto('https://shop.example/help');
  const page1Promise = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'Chat' }).click();
  const page1 = await page1Promise;
  await page1.getByPlaceholder('Your question').fill('Where is my order?');
  await page1.getByRole('button', { name: 'Send' }).click();
  await expect(page1.getByText('We will answer')).toBeVisible();
  await page1.close();
  await page.getByRole('link', { name: 'Home' }).click();
});
