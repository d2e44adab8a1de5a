// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('pages', async ({ page }) => {
  await page.goto('/a', { waitUntil: 'networkidle' });
  await page.getByRole('link', { name: 'b' }).click();
  await page.waitForURL('**/b');
  await page.goBack();
  await page.goForward();
  await page.reload();
  await page.waitForLoadState('networkidle');
  await page.waitForTimeout(500);
  await page.waitForSelector('#ready');
  await page.setViewportSize({ width: 800, height: 600 });
  await page.screenshot({ path: 'shots/a.png' });
  await expect(page).toHaveURL('/a');
});
