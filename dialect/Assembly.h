// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the ops' text that assemblyFormat cannot state: types follow the textual order of their clauses, and
// result types are written only where they cannot be derived.

#ifndef RESID_DIALECT_ASSEMBLY_H
#define RESID_DIALECT_ASSEMBLY_H

#include "dialect/ResidDialect.h"
#include "dialect/Spelling.h"
#include <optional>

namespace mlir::resid {

/// An optional operand as the parser sees it: absent when its clause was not written.
using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;

/// `Tx (, Tgate)? (, Tskip)? (, TalsoScale)? (-> Tresult)?`; x, f and also have one type, the result defaults to it.
ParseResult parseAddTypes(OpAsmParser &parser, OptionalOperand &gateOperand, OptionalOperand &skipOperand,
                          OptionalOperand &alsoOperand, OptionalOperand &alsoScaleOperand, Type &x, Type &f, Type &gate,
                          Type &skip, Type &also, Type &alsoScale, Type &result);
void printAddTypes(OpAsmPrinter &printer, Operation *op, Value gateOperand, Value skipOperand, Value alsoOperand,
                   Value alsoScaleOperand, Type x, Type f, Type gate, Type skip, Type also, Type alsoScale,
                   Type result);

/// `Tf, Tbias`.
ParseResult parseBiasTypes(OpAsmParser &parser, Type &f, Type &bias);
void printBiasTypes(OpAsmPrinter &printer, Operation *op, Type f, Type bias);

/// `Tx (, Tgamma)? (, Tbeta)? (-> Tresult (, Tstatistic)*)?`; the result defaults to x's type.
ParseResult parseNormTypes(OpAsmParser &parser, OptionalOperand &gammaOperand, OptionalOperand &betaOperand, Type &x,
                           Type &gamma, Type &beta, Type &result, SmallVectorImpl<Type> &statistics);
void printNormTypes(OpAsmPrinter &printer, Operation *op, Value gammaOperand, Value betaOperand, Type x, Type gamma,
                    Type beta, Type result, TypeRange statistics);

/// `Tdy, Tx, Tstatistic (, Tgamma)? (-> Tdx, Tdgamma, Tdbeta)?`; all statistics have one type, sum has that of x, dx
/// defaults to it, dgamma and dbeta to that of gamma.
ParseResult parseNormGradTypes(OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> statisticOperands,
                               OptionalOperand &gammaOperand, OptionalOperand &dsumOperand, Type &dy, Type &x,
                               SmallVectorImpl<Type> &statistics, Type &gamma, Type &dsum, Type &dx,
                               SmallVectorImpl<Type> &parameters);
void printNormGradTypes(OpAsmPrinter &printer, Operation *op, OperandRange statisticOperands, Value gammaOperand,
                        Value dsumOperand, Type dy, Type x, TypeRange statistics, Type gamma, Type dsum, Type dx,
                        TypeRange parameters);

/// `Tlogits, Tlabels (-> Tloss (, Tlogsumexp)?)?`; without an arrow there is a loss of its type alone.
ParseResult parseCrossEntropyTypes(OpAsmParser &parser, Type &logits, Type &labels, Type &loss, Type &logsumexp);
void printCrossEntropyTypes(OpAsmPrinter &printer, Operation *op, Type logits, Type labels, Type loss, Type logsumexp);

/// `Tlogits, Tlabels`; the other types follow from that of the logits.
ParseResult parseCrossEntropyGradTypes(OpAsmParser &parser, Type &dloss, Type &logits, Type &labels, Type &logsumexp,
                                       Type &dlogits);
void printCrossEntropyGradTypes(OpAsmPrinter &printer, Operation *op, Type dloss, Type logits, Type labels,
                                Type logsumexp, Type dlogits);

/// `Tids, Ttable`, for the lookup and for its backward; the type of what is looked up follows.
ParseResult parseEmbeddingTypes(OpAsmParser &parser, Type &ids, Type &table, Type &result);
void printEmbeddingTypes(OpAsmPrinter &printer, Operation *op, Type ids, Type table, Type result);
ParseResult parseEmbeddingGradTypes(OpAsmParser &parser, Type &dy, Type &ids, Type &table, Type &dtable);
void printEmbeddingGradTypes(OpAsmPrinter &printer, Operation *op, Type dy, Type ids, Type table, Type dtable);

/// `Tdy, Tx, Talpha (, Tgamma)? (-> Tdx, Tdalpha (, Tdgamma, Tdbeta)?)?`; sum has the type of x, and each gradient
/// defaults to the type of what it belongs to.
ParseResult parseDyTGradTypes(OpAsmParser &parser, OptionalOperand &gammaOperand, OptionalOperand &dsumOperand,
                              Type &dy, Type &x, Type &alpha, Type &gamma, Type &dsum, Type &dx, Type &dalpha,
                              SmallVectorImpl<Type> &parameters);
void printDyTGradTypes(OpAsmPrinter &printer, Operation *op, Value gammaOperand, Value dsumOperand, Type dy, Type x,
                       Type alpha, Type gamma, Type dsum, Type dx, Type dalpha, TypeRange parameters);

/// `Tx (, Tgiven)? (, Tgamma)? (, Tbeta)? (-> Tresult (, Tmean, Tvariance)?)?`; all given statistics have one type, the
/// result defaults to x's type.
ParseResult parseBatchNormTypes(OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> givenOperands,
                                OptionalOperand &gammaOperand, OptionalOperand &betaOperand, Type &x,
                                SmallVectorImpl<Type> &given, Type &gamma, Type &beta, Type &result,
                                SmallVectorImpl<Type> &statistics);
void printBatchNormTypes(OpAsmPrinter &printer, Operation *op, OperandRange givenOperands, Value gammaOperand,
                         Value betaOperand, Type x, TypeRange given, Type gamma, Type beta, Type result,
                         TypeRange statistics);

/// `Tx, Talpha (, Tgamma)? (, Tbeta)? (-> Tresult)?`.
ParseResult parseDyTTypes(OpAsmParser &parser, OptionalOperand &gammaOperand, OptionalOperand &betaOperand, Type &x,
                          Type &alpha, Type &gamma, Type &beta, Type &result);
void printDyTTypes(OpAsmPrinter &printer, Operation *op, Value gammaOperand, Value betaOperand, Type x, Type alpha,
                   Type gamma, Type beta, Type result);

/// `Tx (, Tbias)? (, Tgate)? (, Tskip)? (, TalsoScale)? (, Talpha)? (, Tgamma)? (, Tbeta)?
/// (-> Tnormalized, Tsum (, Tstatistic)*)?`; x, f and also have one type, the results default to it.
ParseResult parseAddNormTypes(OpAsmParser &parser, OptionalOperand &biasOperand, OptionalOperand &gateOperand,
                              OptionalOperand &skipOperand, OptionalOperand &alsoOperand,
                              OptionalOperand &alsoScaleOperand, OptionalOperand &alphaOperand,
                              OptionalOperand &gammaOperand, OptionalOperand &betaOperand, Type &x, Type &f, Type &bias,
                              Type &gate, Type &skip, Type &also, Type &alsoScale, Type &alpha, Type &gamma, Type &beta,
                              Type &normalized, Type &sum, SmallVectorImpl<Type> &statistics);
void printAddNormTypes(OpAsmPrinter &printer, Operation *op, Value biasOperand, Value gateOperand, Value skipOperand,
                       Value alsoOperand, Value alsoScaleOperand, Value alphaOperand, Value gammaOperand,
                       Value betaOperand, Type x, Type f, Type bias, Type gate, Type skip, Type also, Type alsoScale,
                       Type alpha, Type gamma, Type beta, Type normalized, Type sum, TypeRange statistics);

/// `Tq, Tk, Tv (, Tmask)? (, Tsink)? (, Tsegments, Tsegments)? (, Tpast)? (-> Tresult (, Tstatistic)*)?`; past defaults
/// to i64, the result to q's type.
ParseResult parseAttentionTypes(OpAsmParser &parser, OptionalOperand &maskOperand, OptionalOperand &sinkOperand,
                                OptionalOperand &pastOperand, OptionalOperand &segmentsOperand, Type &q, Type &k,
                                Type &v, Type &mask, Type &sink, Type &past, Type &querySegments, Type &keySegments,
                                Type &result, SmallVectorImpl<Type> &statistics);
void printAttentionTypes(OpAsmPrinter &printer, Operation *op, Value maskOperand, Value sinkOperand, Value pastOperand,
                         Value segmentsOperand, Type q, Type k, Type v, Type mask, Type sink, Type past,
                         Type querySegments, Type keySegments, Type result, TypeRange statistics);

/// `Tcache, Tx (, Tpast)?`; past defaults to i64.
ParseResult parseAppendTypes(OpAsmParser &parser, Type &cache, Type &x, Type &past);
void printAppendTypes(OpAsmPrinter &printer, Operation *op, Type cache, Type x, Type past);

/// `Tdy, Tq, Tk, Tv (, Tmask)? (, Tsink)? (, Tsegments, Tsegments)?`; the other types follow from these.
ParseResult parseAttentionGradTypes(OpAsmParser &parser, OptionalOperand &maskOperand, OptionalOperand &sinkOperand,
                                    OptionalOperand &segmentsOperand, Type &dy, Type &q, Type &k, Type &v, Type &max,
                                    Type &sum, Type &mask, Type &sink, Type &querySegments, Type &keySegments, Type &dq,
                                    Type &dk, Type &dv, Type &dsinks);
void printAttentionGradTypes(OpAsmPrinter &printer, Operation *op, Value maskOperand, Value sinkOperand,
                             Value segmentsOperand, Type dy, Type q, Type k, Type v, Type max, Type sum, Type mask,
                             Type sink, Type querySegments, Type keySegments, Type dq, Type dk, Type dv, Type dsinks);

/// `Tx, Tcos, Tsin (, Toffset)?`; offset defaults to i64.
ParseResult parseRotaryTypes(OpAsmParser &parser, OptionalOperand &offsetOperand, Type &x, Type &cos, Type &sin,
                             Type &offset);
void printRotaryTypes(OpAsmPrinter &printer, Operation *op, Value offsetOperand, Type x, Type cos, Type sin,
                      Type offset);

/// `Tx`; x and up have one type.
ParseResult parseActivationTypes(OpAsmParser &parser, OptionalOperand &upOperand, Type &x, Type &up);
void printActivationTypes(OpAsmPrinter &printer, Operation *op, Value upOperand, Type x, Type up);

/// `Tx (, Tweights)? (-> Tresult)?`; the result defaults to one stream of x.
ParseResult parseReadTypes(OpAsmParser &parser, OptionalOperand &weightsOperand, Type &x, Type &weights, Type &result);
void printReadTypes(OpAsmPrinter &printer, Operation *op, Value weightsOperand, Type x, Type weights, Type result);

/// `Tx (, Tweights)? (, Tmix)? (-> Tresult)?`; y is one stream of x, the result defaults to the type of x.
ParseResult parseWriteTypes(OpAsmParser &parser, OptionalOperand &yOperand, OptionalOperand &weightsOperand,
                            OptionalOperand &mixOperand, Type &x, Type &y, Type &weights, Type &mix, Type &result);
void printWriteTypes(OpAsmPrinter &printer, Operation *op, Value yOperand, Value weightsOperand, Value mixOperand,
                     Type x, Type y, Type weights, Type mix, Type result);

/// `Tx, Tweight (-> Tz (, Trstd)?)?`; without an arrow there is a z of its type alone.
ParseResult parseProjectTypes(OpAsmParser &parser, Type &x, Type &weight, Type &z, Type &rstd);
void printProjectTypes(OpAsmPrinter &printer, Operation *op, Type x, Type weight, Type z, Type rstd);

/// `Ta, Tb`; the result follows.
ParseResult parseStreamDotsTypes(OpAsmParser &parser, Type &a, Type &b, Type &result);
void printStreamDotsTypes(OpAsmPrinter &printer, Operation *op, Type a, Type b, Type result);

/// One of the names as a bare keyword; `what` says in messages what they name.
ParseResult parseNameOf(OpAsmParser &parser, StringRef what, const KnownNames &known, StringRef &name);

/// What stands in the clause of a quantised result: `row | tensor | group G`, and `(scale %s : type)?`. There is no
/// clause where rows have a scale, and that is a result.
ParseResult parseQuantization(OpAsmParser &parser, GranularityAttr &granularity, IntegerAttr &group,
                              OptionalOperand &scale, Type &type);
void printQuantization(OpAsmPrinter &printer, Operation *op, GranularityAttr granularity, IntegerAttr group,
                       Value scale, Type type);

/// The norm kind as a bare keyword.
ParseResult parseKeyword(OpAsmParser &parser, NormKindAttr &kind);
void printKeyword(OpAsmPrinter &printer, Operation *op, NormKindAttr kind);

/// The activation kind as a bare keyword.
ParseResult parseKeyword(OpAsmParser &parser, ActivationKindAttr &kind);
void printKeyword(OpAsmPrinter &printer, Operation *op, ActivationKindAttr kind);

} // namespace mlir::resid

#endif // RESID_DIALECT_ASSEMBLY_H
