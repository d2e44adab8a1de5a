// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test.describe('account', { tag: '@account' }, () => {
  test.describe('signed in', () => {
    test.beforeEach('sign in', async ({ page }) => {
      await page.goto('/login');
      await page.getByLabel('Name').fill('Ada');
    });
    test('shows the name', async ({ page }) => {
      await page.getByRole('button', { name: 'Go' }).click();
      await expect(page.getByRole('banner')).toContainText('Ada');
    });
  });
  test('is closed', async ({ page }) => {
    await page.goto('/account');
    await expect(page).toHaveURL(/login/);
  });
});
