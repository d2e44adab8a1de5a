// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('test', async ({ page }) => {
  await page.goto('https://shop.example/account');
  page.once('dialog', dialog => {
    console.log(`Dialog message: ${dialog.message()}`);
    dialog.dismiss().catch(() => {});
  });
  await page.getByRole('button', { name: 'Delete account' }).click();
  await expect(page.getByText('Still here')).toBeVisible();
});
