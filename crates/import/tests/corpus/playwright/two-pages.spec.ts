// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('two tabs', async ({ page, context }) => {
  await page.goto('/');
  const other = await context.newPage();
  await other.goto('/admin');
  await other.getByRole('button', { name: 'Approve' }).click();
  await page.bringToFront();
  await expect(page.getByText('Approved')).toBeVisible();
  await context.clearCookies();
});
