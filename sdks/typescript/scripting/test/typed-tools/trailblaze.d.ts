/** As `trailblaze types` writes it. */
interface TrailblazeTools {
  tap(args?: { text?: string }): Promise<string>;
  acme_pay(args: { amount: number }): Promise<unknown>;
}
