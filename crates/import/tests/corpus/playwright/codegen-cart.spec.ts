// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('test', async ({ page }) => {
  await page.goto('https://shop.example/products');
  await page.locator('#product-7').getByRole('button', { name: 'Add' }).click();
  await page.getByRole('listitem').filter({ hasText: 'Blue mug' }).getByRole('button').click();
  await page.locator('div').filter({ hasText: /^Total$/ }).first().click();
  await page.getByRole('link', { name: 'Cart (2)', exact: true }).click();
  await expect(page.getByRole('row', { name: 'Blue mug' }).getByRole('cell').nth(2)).toContainText('9.00');
  await page.getByRole('button', { name: 'Checkout' }).click();
});
