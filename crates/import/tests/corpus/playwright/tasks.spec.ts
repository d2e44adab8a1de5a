// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('a task can be done', async ({ page }) => {
  await page.goto('/tasks.html');
  await page.getByLabel('New task').fill('Water the plants');
  await page.getByRole('button', { name: 'Add' }).click();
  await expect(page.getByText('1 tasks left')).toBeVisible();
  await page.getByRole('checkbox', { name: 'Water the plants' }).check();
  await expect(page.getByTestId('left')).toHaveText('0 tasks left');
});
