// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('snapshots of the tree', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('navigation')).toMatchAriaSnapshot(`
    - link "Home"
  `);
  await expect(page.getByRole('navigation')).toBeVisible();
  await expect(page.getByRole('link')).toHaveAccessibleName('Home');
});
