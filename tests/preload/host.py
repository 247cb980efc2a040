"""A program nobody wrote for Sprag: Debian's PyODE with falling boxes, a hinge chain and a car.  Prints the end state."""
import sys
import ode

# Parameters as ODE 0.16 counts them: PyODE's own constants are those of an older ODE.
LO_STOP, HI_STOP, VEL, FMAX, SUSPENSION_ERP, SUSPENSION_CFM, SECOND_AXIS = 0, 1, 2, 5, 11, 12, 256

world = ode.World()
world.setGravity((0, 0, -9.81))
space = ode.Space()
floor = ode.GeomPlane(space, (0, 0, 1), 0)
group = ode.JointGroup()
bodies, geoms, joints = [], [], []


def solid(geom, mass, position):
    body = ode.Body(world)
    body.setMass(mass)
    body.setPosition(position)
    geom.setBody(body)
    bodies.append(body)
    geoms.append(geom)
    return body


def box(size, density, position):
    mass = ode.Mass()
    mass.setBox(density, *size)
    return solid(ode.GeomBox(space, size), mass, position)


def wheel(position):
    mass = ode.Mass()
    mass.setSphere(200, 0.2)
    return solid(ode.GeomSphere(space, 0.2), mass, position)


for k in range(12):  # falling boxes
    box((0.4, 0.3, 0.2), 500, (0.05 * (k % 3), 0.03 * (k % 5), 0.3 + 0.35 * k))

previous = None  # a chain of hinges, one end in the world
for k in range(8):
    link = box((0.2, 0.05, 0.05), 1000, (3 + 0.2 * k, 0, 1.5))
    hinge = ode.HingeJoint(world)
    hinge.attach(link, previous if previous else ode.environment)
    hinge.setAnchor((2.9 + 0.2 * k, 0, 1.5))
    hinge.setAxis((0, 1, 0))
    joints.append(hinge)
    previous = link

chassis = box((1.0, 0.5, 0.2), 300, (-3, 0, 0.4))  # a car on four driven wheels
for x in (-0.4, 0.4):
    for y in (-0.35, 0.35):
        w = wheel((-3 + x, y, 0.2))
        axle = ode.Hinge2Joint(world)
        axle.attach(chassis, w)
        axle.setAnchor((-3 + x, y, 0.2))
        axle.setAxis1((0, 0, 1))
        axle.setAxis2((0, 1, 0))
        axle.setParam(LO_STOP, 0)
        axle.setParam(HI_STOP, 0)
        axle.setParam(SUSPENSION_ERP, 0.8)
        axle.setParam(SUSPENSION_CFM, 1e-5)
        axle.setParam(SECOND_AXIS + VEL, 3)
        axle.setParam(SECOND_AXIS + FMAX, 20)
        joints.append(axle)


def near(args, g1, g2):
    b1, b2 = g1.getBody(), g2.getBody()
    if b1 and b2 and ode.areConnected(b1, b2):
        return
    for contact in ode.collide(g1, g2):
        contact.setMu(0.7)
        contact.setMode(ode.ContactApprox1)
        ode.ContactJoint(world, group, contact).attach(b1, b2)


quick = "quick" in sys.argv
for step in range(600):
    space.collide(None, near)
    (world.quickStep if quick else world.step)(0.005)
    group.empty()

for body in bodies:
    p = body.getPosition()
    assert all(abs(x) < 100 for x in p), "a body flew away: %r" % (p,)
    print("%.3f %.3f %.3f" % p)
