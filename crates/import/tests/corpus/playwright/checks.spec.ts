// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('many checks', async ({ page }) => {
  await page.goto('/checks');
  await expect(page.getByRole('button', { name: 'Pay' })).toBeEnabled();
  await expect(page.getByRole('button', { name: 'Buy' })).toBeDisabled();
  await expect(page.getByLabel('Name')).toBeFocused();
  await expect(page.getByLabel('Name')).toBeEditable();
  await expect(page.locator('.error')).toBeHidden();
  await expect(page.locator('.error')).not.toBeVisible();
  await expect(page.getByRole('listitem')).toHaveCount(3);
  await expect(page.getByRole('listitem')).toHaveText(['Mug', 'Tea', 'Bag']);
  await expect(page.locator('#link')).toHaveAttribute('href', '/next');
  await expect(page.locator('#box')).toHaveClass(/active/);
  await expect(page.locator('#box')).toHaveId('box');
  await expect(page.locator('#foot')).toBeInViewport();
  await expect(page.locator('#box')).toHaveCSS('color', 'red');
  await expect(page).toHaveScreenshot();
  await expect(page.locator('h1')).not.toHaveText('Old');
  await expect(page.getByText('Gone')).toBeAttached();
});
