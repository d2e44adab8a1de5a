enum A { B = 1, C }
namespace N { export const x = 1 }
class P { constructor(private readonly y: number) {} get z() { return this.y } }
return new P(A.C).z + N.x