// origin: written for Trailblaze after Playwright's documentation; Apache-2.0
import { test, expect } from '@playwright/test';
import { LoginPage } from './login-page';

test('with a page object', async ({ page }) => {
  const login = new LoginPage(page);
  await login.open();
  await login.signIn('ada', 'secret');
  await expect(page.getByText('Welcome')).toBeVisible();
});
