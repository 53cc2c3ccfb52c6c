/* kinds.c: from a type to the functions that make bytes and objects of its values: the rows of kinds.def. */
#include "runtime/marshal/marshal_private.h"

static const struct {
    MarshalTake *take;
    MarshalBox *box;
} kinds[TY_COUNT] = {
#define MARSHAL(kind, take, box) [TY_##kind] = {marshal_take_##take, marshal_box_##box},
#include "runtime/marshal/kinds.def"
#undef MARSHAL
};

MarshalTake *marshal_taker(const Type *type) { return kinds[type->kind].take; }

MarshalResult marshal_unpack(const Marshal *marshal, const Type *type, PyObject *object, void *to) {
    return kinds[type->kind].take(marshal, type, object, to, false);
}

MarshalResult marshal_convert(const Marshal *marshal, const Type *type, PyObject *object, void *to) {
    return kinds[type->kind].take(marshal, type, object, to, true);
}

PyObject *marshal_box(const Marshal *marshal, const Type *type, const void *from) {
    return kinds[type->kind].box(marshal, type, from);
}

MarshalResult marshal_take_never(const Marshal *marshal, const Type *type, PyObject *object, void *to, bool convert) {
    (void)marshal, (void)type, (void)object, (void)to, (void)convert;
    return MARSHAL_MISMATCH;
}

PyObject *marshal_box_never(const Marshal *marshal, const Type *type, const void *from) {
    (void)marshal, (void)type, (void)from;
    PyErr_SetString(PyExc_TypeError, "a value of this type cannot leave compiled code");
    return NULL;
}
