// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

const names = ['Mug', 'Tea'];

for (const name of names) {
  test(`buy ${name}`, async ({ page }) => {
    await page.goto('/');
    await page.getByRole('link', { name }).click();
    await page.getByRole('link', { name: name }).click();
  });
}

test('buy all', async ({ page }) => {
  await page.goto('/');
  for (const name of names) {
    await page.getByRole('button', { name: name }).click();
  }
  for (let i = 0; i < 3; i++) {
    await page.getByText('More').click();
  }
  if (await page.getByText('Cookies').isVisible()) {
    await page.getByText('Accept').click();
  }
});
