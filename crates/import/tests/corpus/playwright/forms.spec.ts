// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';

test('all kinds of fields', async ({ page }) => {
  await page.goto('/form');
  await page.getByPlaceholder('City').fill('Rome');
  await page.getByLabel('Notes').pressSequentially('abc', { delay: 100 });
  await page.locator('#color').selectOption({ label: 'Blue' });
  await page.getByLabel('Sizes').selectOption(['S', 'M']);
  await page.getByLabel('Photo').setInputFiles('cat.png');
  await page.getByLabel('Files').setInputFiles(['a.txt', 'b.txt']);
  await page.getByLabel('Notes').clear();
  await page.getByRole('radio', { name: 'Card' }).check();
  await page.getByRole('switch', { name: 'Wi-Fi' }).setChecked(false);
  await expect(page.getByLabel('City')).toHaveValue('Rome');
  await expect(page.getByLabel('Notes')).toBeEmpty();
  await expect(page.getByLabel('Gift')).toBeChecked();
  await expect(page.getByLabel('News')).not.toBeChecked();
});
