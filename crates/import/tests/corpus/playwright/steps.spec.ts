// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('checkout in steps', async ({ page }) => {
  await test.step('Open the shop', async () => {
    await page.goto('/');
    await expect(page).toHaveTitle('Shop');
  });
  await test.step('Fill in the form', async () => {
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('Country').selectOption('France');
    await page.getByLabel('Gift').check();
    await page.getByLabel('News').uncheck();
  });
  await test.step('Order', async () => {
    await page.getByRole('button', { name: 'Order' }).click();
    await expect.soft(page.getByTestId('number')).toHaveText(/\d+/);
    await expect(page.getByText('Thank you')).toBeVisible({ timeout: 20000 });
  });
});
