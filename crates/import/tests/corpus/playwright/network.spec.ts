// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('answers requests', async ({ page, request }) => {
  await page.route('**/api/fruits', route => route.fulfill({ json: [] }));
  await page.goto('/fruits');
  await expect(page.getByText('No fruits')).toBeVisible();
  const response = await request.get('/api/fruits');
  expect(response.ok()).toBeTruthy();
  await page.route('**/*.png', route => route.abort());
});
