// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('searching', async ({ page }) => {
  // Open the shop
  await page.goto('/');
  // Search for a mug
  await page.getByRole('searchbox', { name: 'Search' }).fill('mug');
  await page.getByRole('searchbox', { name: 'Search' }).press('Enter');
  await expect(page.getByRole('listitem').filter({ hasText: 'Blue mug' })).toBeVisible();
  await expect(page.getByRole('status')).toContainText('1 product');
  await page.getByRole('link', { name: 'Blue mug' }).click();
  await expect(page.getByRole('heading', { name: 'Blue mug' })).toBeVisible();
});
