// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('the mouse', async ({ page }) => {
  await page.goto('/mouse');
  await page.getByText('Menu').hover();
  await page.getByText('Item').dblclick();
  await page.getByText('Item').click({ button: 'right' });
  await page.getByText('Item').click({ modifiers: ['Shift'] });
  await page.getByText('Canvas').click({ position: { x: 5, y: 6 } });
  await page.locator('#mug').dragTo(page.locator('#basket'));
  await page.mouse.wheel(0, 300);
  await page.mouse.move(10, 10);
  await page.getByText('Hidden').click({ force: true });
});
