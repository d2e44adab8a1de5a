// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

const BASE = 'https://shop.example';
const user = { name: 'Ada', email: 'ada@example.com' };
const product = `Blue ${'mug'}`;

test('a user buys', async ({ page }) => {
  const greeting = page.getByText(`Hello, ${user.name}`);
  await page.goto(`${BASE}/login`);
  await page.getByLabel('Email').fill(user.email);
  await page.getByLabel('Password').fill(process.env.PASSWORD!);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(greeting).toBeVisible();
  await page.getByRole('link', { name: product }).click();
  await page.getByText('a' + 'b', { exact: true }).click();
  await page.getByLabel('Coupon').fill(`c-${Date.now()}`);
});
