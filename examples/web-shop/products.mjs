// The products. Names repeat, as in real shops; the colours differ.
export const inStock = [
  ["mug-blue", "Enamel mug", "blue", 1200], ["mug-red", "Enamel mug", "red", 1200], ["mug-white", "Enamel mug", "white", 1150],
  ["towel-striped", "Tea towel", "striped", 950], ["towel-plain", "Tea towel", "plain", 800], ["pot", "Teapot", "green", 3400],
  ["apron", "Apron", "navy", 2700], ["board", "Chopping board", "oak", 2250], ["bowl-small", "Bowl", "cream", 600],
  ["bowl-large", "Bowl", "cream", 1400], ["spoon", "Wooden spoon", "beech", 450], ["jar", "Storage jar", "clear", 1600],
].map(([sku, name, colour, price]) => ({ sku, name, colour, price }));

export const find = (sku) => inStock.find((product) => product.sku === sku);
