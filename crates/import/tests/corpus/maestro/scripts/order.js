// origin: written for Trailblaze after Maestro's documentation; Apache-2.0
const product = typeof PRODUCT === 'undefined' ? 'Tea' : PRODUCT;
output.order = `Order of ${product}`;
