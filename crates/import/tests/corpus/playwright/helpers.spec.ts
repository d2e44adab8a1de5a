// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

async function signIn(page, name) {
  await page.goto('/login');
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

const open = async (page) => {
  await page.getByRole('link', { name: 'Orders' }).click();
};

test('orders of Ada', async ({ page }) => {
  await signIn(page, 'Ada');
  await open(page);
  await expect(page.getByRole('heading', { name: 'Orders' })).toBeVisible();
});
