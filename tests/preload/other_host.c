/* Steps a world twice, whatever ODE it meets. */
#include <ode/ode.h>

int main(void)
{
    return !(dWorldStep(NULL, 1) && dWorldQuickStep(NULL, 1));
}
