// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('keys', async ({ page }) => {
  await page.goto('/editor');
  await page.getByRole('textbox').click();
  await page.keyboard.type('Hello');
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Backspace');
  await page.locator('#editor').press('Enter');
  await page.keyboard.down('Shift');
});
