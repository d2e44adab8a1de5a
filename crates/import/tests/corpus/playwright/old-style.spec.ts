// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('methods of the page', async ({ page }) => {
  await page.goto('https://shop.example/login');
  await page.fill('#email', 'ada@example.com');
  await page.fill('#password', 'secret');
  await page.click('button[type=submit]');
  await page.check('#terms');
  await page.selectOption('#country', 'IT');
  await page.press('#search', 'Enter');
  await page.hover('.menu');
  await page.dblclick('.item');
  await expect(page.locator('text="Welcome"')).toBeVisible();
});
