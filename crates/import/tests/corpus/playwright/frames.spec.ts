// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('a frame', async ({ page }) => {
  await page.goto('/frames');
  await page.frameLocator('#pay').getByLabel('Card').fill('4111');
  await page.locator('iframe').contentFrame().getByRole('button', { name: 'Pay' }).click();
  await page.locator('iframe[name="x"]').contentFrame().getByText('Done').click();
});
