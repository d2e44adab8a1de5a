// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('selectors', async ({ page }) => {
  await page.goto('/');
  await page.locator('text=Log in').click();
  await page.locator('css=nav > a').first().click();
  await page.locator('xpath=//button').click();
  await page.locator('//div[2]').click();
  await page.locator('li:has-text("Mug")').click();
  await page.locator('button >> nth=1').click();
  await page.locator('article', { hasText: 'News' }).getByRole('link').click();
  await page.locator('.list').locator('.item').nth(1).click();
  await page.locator('[data-test="pay"]').click();
  await page.getByAltText('Logo').click();
  await page.getByTitle('Close').click();
  await page.getByRole('listitem').last().click();
  await page.getByRole('button', { name: /save/i }).click();
  await page.getByTestId(/^row-/).first().click();
});
