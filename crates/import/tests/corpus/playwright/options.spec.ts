// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test.use({ baseURL: 'https://shop.example', locale: 'de-DE' });
test.describe.configure({ mode: 'serial' });

test.beforeAll(async () => {
  console.log('start');
});

test('in German', async ({ page }) => {
  test.slow();
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Willkommen');
});

test.fixme('later', async ({ page }) => {
  await page.goto('/later');
});
