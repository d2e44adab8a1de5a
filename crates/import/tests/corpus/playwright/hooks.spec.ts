// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test.describe('the cart', () => {
  test.beforeEach(async ({ page }) => {
    await page.goto('/cart');
  });

  test.afterEach(async ({ page }) => {
    await page.getByRole('button', { name: 'Empty the cart' }).click();
  });

  test('is empty at first', { tag: ['@smoke', '@cart'] }, async ({ page }) => {
    await expect(page.getByText('Your cart is empty')).toBeVisible();
    await expect(page.getByRole('listitem')).toHaveCount(0);
  });

  test('has a total', async ({ page }) => {
    await page.getByRole('link', { name: 'Mug' }).click();
    await expect(page.locator('.total')).toHaveText('€9.00');
    await expect(page).toHaveURL(/\/cart$/);
  });

  test.skip('can be shared', async ({ page }) => {
    await page.getByText('Share').click();
  });
});
