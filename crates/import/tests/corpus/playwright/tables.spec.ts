// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('a table', async ({ page }) => {
  await page.goto('/orders');
  const row = page.getByRole('row', { name: '4711' });
  await row.getByRole('button', { name: 'Open' }).click();
  await expect(row.getByRole('cell', { name: 'Paid' })).toBeVisible();
  const rows = page.getByRole('row');
  await expect(rows).toHaveCount(5);
  await rows.filter({ has: page.getByRole('cell', { name: '4712' }) }).getByRole('checkbox').check();
  await expect(page.getByRole('row').nth(1)).toContainText(['4711', 'Paid']);
});
